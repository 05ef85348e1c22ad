// Draws each chart from the numbers that stand below it. Lines differ by dash and by the name at their end.
const doc = document, dashes = [[], [9, 5], [2, 4], [12, 4, 2, 4], [5, 3]];
const colours = ["--info", "--crit", "--ok", "--warn", "--unknown"];
const LOW = 200, WIDE = 700, LINE = 14, LETTER = 6.5, DAY = 86400;
const token = (name) => getComputedStyle(doc.documentElement).getPropertyValue(name).trim();
const charts = [];

function read(table) {
	const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
	const rows = [...table.tBodies[0].rows];
	const at = (i) => rows.map((row) => { const { value } = row.cells[i + 1].dataset; return value ? +value : null; });
	return [names, [rows.map((row) => +row.dataset.at), ...names.map((_, i) => at(i))]];
}
const last = (values) => values.findLastIndex((value) => value !== null);
// Those that no line leads to.
const alone = (values) => values.flatMap((value, i) => (value !== null && (values[i - 1] ?? values[i + 1] ?? null) === null ? [i] : []));
const side = (box) => (box.clientWidth < WIDE ? 80 : 140);
const short = (name, most) => (name.length > most ? name.slice(0, most - 1) + "…" : name);
const times = (_plot, splits, _axis, _space, step) => splits.map((s) => {
	const text = new Date(s * 1e3).toISOString();
	return step < DAY ? (s % DAY ? text.slice(11, 16) : text.slice(5, 10)) : text.slice(0, 10);
});

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
	ctx.textAlign = "left";
	const most = Math.floor(side(plot.root.parentNode) / LETTER);
	for (const { series, y } of found) {
		const at = Math.max(y, floor);
		floor = at + LINE * ratio;
		ctx.fillStyle = series.stroke();
		ctx.fillText(short(series.label, most), bbox.left + bbox.width + 6 * ratio, at);
	}
	ctx.restore();
}
function draw(box) {
	const [names, data] = read(box.parentNode.querySelector("details table"));
	const axis = { stroke: () => token("--muted"), grid: { stroke: () => token("--line"), width: 1 }, ticks: { show: false } };
	const plot = new uPlot({
		width: box.clientWidth,
		height: LOW,
		padding: [8, side(box), 0, 0],
		tzDate: (s) => uPlot.tzDate(new Date(s * 1e3), "Etc/UTC"),
		scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
		axes: [{ ...axis, values: times }, { ...axis, size: 60 }],
		series: [{ value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...names.map((label, i) => ({
			label,
			stroke: () => token(colours[i % colours.length]),
			dash: dashes[i % dashes.length],
			width: 2,
			points: { filter: (plot, i) => alone(plot.data[i]) },
			value: (_, value) => (value === null ? "unknown" : value.toLocaleString("fr", { maximumFractionDigits: 2 })),
		}))],
		hooks: { draw: [label] },
	}, data, box);
	charts.push([box, plot]);
}
doc.querySelectorAll(".plot").forEach(draw);
const redraw = () => charts.forEach(([, plot]) => plot.redraw(false, true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
doc.getElementById("theme").addEventListener("change", () => requestAnimationFrame(redraw));
addEventListener("resize", () => charts.forEach(([box, plot]) => plot.setSize({ width: box.clientWidth, height: LOW })));
