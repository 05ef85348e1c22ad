// Drag over the lanes to see that time closer: sets `from` and `to` in the address. Links do the same without.
const LEAST_PX = 6;
let begin = null;
let brush = null;

function picture(event) {
	return event.target instanceof Element ? event.target.closest("#lanes dd") : null;
}

function instant(lanes, box, x) {
	const [from, to] = [Number(lanes.dataset.from), Number(lanes.dataset.to)];
	const share = Math.min(1, Math.max(0, (x - box.left) / box.width));
	return new Date(from + (to - from) * share).toISOString();
}

function end() {
	brush?.remove();
	begin = brush = null;
}

document.addEventListener("pointerdown", (event) => {
	const lane = picture(event);
	if (!lane || event.button) return;
	event.preventDefault();
	begin = { lanes: lane.closest("#lanes"), box: lane.getBoundingClientRect(), x: event.clientX };
});

document.addEventListener("pointermove", (event) => {
	if (!begin || Math.abs(event.clientX - begin.x) < LEAST_PX) return;
	const list = begin.lanes.querySelector("dl");
	if (!brush?.isConnected) {
		brush = document.createElement("div");
		brush.className = "brush";
		list.append(brush);
	}
	const left = Math.max(begin.box.left, Math.min(begin.x, event.clientX));
	const right = Math.min(begin.box.right, Math.max(begin.x, event.clientX));
	brush.style.left = `${left - list.getBoundingClientRect().left}px`;
	brush.style.width = `${right - left}px`;
});

document.addEventListener("pointerup", (event) => {
	if (!begin) return;
	const { lanes, box, x } = begin;
	const [from, to] = [Math.min(x, event.clientX), Math.max(x, event.clientX)];
	end();
	if (to - from < LEAST_PX) return;
	const address = new URL(location.href);
	address.searchParams.delete("before");
	address.searchParams.set("from", instant(lanes, box, from));
	address.searchParams.set("to", instant(lanes, box, to));
	location.assign(address);
});

document.addEventListener("pointercancel", end);
