// Draws each chart from the numbers that stand below it. Lines differ by dash and by the name at their end.
const DASHES = [[], [9, 5], [2, 4], [12, 4, 2, 4], [5, 3]];
const COLOURS = ["--info", "--crit", "--ok", "--warn", "--unknown"];
const HEIGHT = 200, WIDE = 700, LINE_HEIGHT = 14, LETTER_WIDTH = 6.5, DAY_S = 86400;
const charts = []; // [the element, its plot]

// A canvas takes no light-dark(), so that an element tells what a token is in the theme of now.
const probe = document.body.appendChild(document.createElement("i"));
const token = (name) => {
	probe.style.color = `var(${name})`;
	return getComputedStyle(probe).color;
};

function read(table) {
	const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
	const rows = [...table.tBodies[0].rows];
	const column = (index) => rows.map((row) => {
		const { value } = row.cells[index + 1].dataset;
		return value ? +value : null;
	});
	return [names, [rows.map((row) => +row.dataset.at), ...names.map((_, index) => column(index))]];
}
const lastKnown = (values) => values.findLastIndex((value) => value !== null);
// Those that no line leads to.
const alone = (values) =>
	values.flatMap((value, index) => (value !== null && (values[index - 1] ?? values[index + 1] ?? null) === null ? [index] : []));
const labelWidth = (box) => (box.clientWidth < WIDE ? 80 : 140);
const shortened = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const timeLabels = (_plot, splits, _axis, _space, step) => splits.map((seconds) => {
	const text = new Date(seconds * 1e3).toISOString();
	return step < DAY_S ? (seconds % DAY_S ? text.slice(11, 16) : text.slice(5, 10)) : text.slice(0, 10);
});

// Each line's name at its right end, moved apart where they would cover each other.
function labelLines(plot) {
	const { ctx: canvas, bbox: area } = plot, ratio = devicePixelRatio;
	const ends = plot.series.slice(1).map((series, index) => {
		const values = plot.data[index + 1], end = lastKnown(values);
		return series.show && end >= 0 && { series, y: plot.valToPos(values[end], "y", true) };
	}).filter(Boolean).sort((first, second) => first.y - second.y);
	let floor = area.top;
	canvas.save();
	canvas.font = `${12 * ratio}px system-ui`;
	canvas.textBaseline = "middle";
	canvas.textAlign = "left";
	const most = Math.floor(labelWidth(plot.root.parentNode) / LETTER_WIDTH);
	for (const { series, y } of ends) {
		const top = Math.max(y, floor);
		floor = top + LINE_HEIGHT * ratio;
		canvas.fillStyle = series.stroke();
		canvas.fillText(shortened(series.label, most), area.left + area.width + 6 * ratio, top);
	}
	canvas.restore();
}
function draw(box) {
	const [names, data] = read(box.closest("section").querySelector("details table"));
	const told = box.firstElementChild.getAttribute("aria-label");
	box.replaceChildren();
	box.setAttribute("role", "img");
	box.setAttribute("aria-label", told);
	const axis = { stroke: () => token("--muted"), grid: { stroke: () => token("--line"), width: 1 }, ticks: { show: false } };
	const plot = new uPlot({
		width: box.clientWidth,
		height: HEIGHT,
		padding: [8, labelWidth(box), 0, 0],
		tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
		scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
		axes: [{ ...axis, values: timeLabels }, { ...axis, size: 60 }],
		series: [{ value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...names.map((label, index) => ({
			label,
			stroke: () => token(COLOURS[index % COLOURS.length]),
			dash: DASHES[index % DASHES.length],
			width: 2,
			points: { filter: (drawn, series) => alone(drawn.data[series]) },
			value: (_, value) => (value === null ? "unknown" : value.toLocaleString("fr", { maximumFractionDigits: 2 })),
		}))],
		hooks: { draw: [labelLines] },
	}, data, box);
	charts.push([box, plot]);
}
document.querySelectorAll(".plot").forEach(draw);
const redraw = () => charts.forEach(([, plot]) => plot.redraw(false, true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
document.getElementById("theme").addEventListener("change", () => requestAnimationFrame(redraw));
addEventListener("resize", () => charts.forEach(([box, plot]) => plot.setSize({ width: box.clientWidth, height: HEIGHT })));
