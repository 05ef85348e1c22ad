// Draws each chart from the numbers that stand below it. Lines differ by dash and by the name at their end.
const doc = document, dashes = [[], [9, 5], [2, 4], [12, 4, 2, 4], [5, 3]];
const colours = ["--info", "--crit", "--ok", "--warn", "--unknown"];
const LOW = 200, SIDE = 130, WIDE = 700, LETTERS = 18, LINE = 14;
const token = (name) => getComputedStyle(doc.documentElement).getPropertyValue(name).trim();
const charts = [];

function read(table) {
	const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
	const rows = [...table.tBodies[0].rows];
	const at = (i) => rows.map((row) => { const { value } = row.cells[i + 1].dataset; return value ? +value : null; });
	return [names, [rows.map((row) => +row.dataset.at), ...names.map((_, i) => at(i))]];
}
const last = (values) => values.findLastIndex((value) => value !== null);
const short = (name) => (name.length > LETTERS ? name.slice(0, LETTERS - 1) + "…" : name);

// Each line's name at its right end, moved apart where they would cover each other.
function label(plot) {
	const { ctx, bbox } = plot, ratio = devicePixelRatio;
	const found = plot.series.slice(1).map((series, i) => {
		const values = plot.data[i + 1], end = last(values);
		return series.show && end >= 0 && { series, y: plot.valToPos(values[end], "y", true) };
	}).filter(Boolean).sort((a, b) => a.y - b.y);
	let floor = bbox.top;
	ctx.save();
	ctx.font = `${12 * ratio}px system-ui`;
	ctx.textBaseline = "middle";
	for (const { series, y } of found) {
		const at = Math.max(y, floor);
		floor = at + LINE * ratio;
		ctx.fillStyle = series.stroke();
		ctx.fillText(short(series.label), bbox.left + bbox.width + 6 * ratio, at);
	}
	ctx.restore();
}
function draw(box) {
	const [names, data] = read(box.parentNode.querySelector("details table"));
	const side = box.clientWidth < WIDE ? 0 : SIDE;
	const axis = { stroke: () => token("--muted"), grid: { stroke: () => token("--line"), width: 1 }, ticks: { show: false } };
	const plot = new uPlot({
		width: box.clientWidth,
		height: LOW,
		padding: [8, side, 0, 0],
		tzDate: (s) => uPlot.tzDate(new Date(s * 1e3), "Etc/UTC"),
		scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
		axes: [axis, { ...axis, size: 60 }],
		series: [{ value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...names.map((label, i) => ({
			label,
			stroke: () => token(colours[i % colours.length]),
			dash: dashes[i % dashes.length],
			width: 2,
			points: { show: data[0].length < 2 ? true : undefined },
			value: (_, value) => (value === null ? "unknown" : value.toLocaleString("fr", { maximumFractionDigits: 2 })),
		}))],
		hooks: side ? { draw: [label] } : {},
	}, data, box);
	charts.push([box, plot]);
}
doc.querySelectorAll(".plot").forEach(draw);
const redraw = () => charts.forEach(([, plot]) => plot.redraw(false, true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
doc.getElementById("theme").addEventListener("change", () => requestAnimationFrame(redraw));
addEventListener("resize", () => charts.forEach(([box, plot]) => plot.setSize({ width: box.clientWidth, height: LOW })));
