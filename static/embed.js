// An embed's script: takes frames, words ages, says when it ends. It runs without an origin, so without storage.
(() => {
	const { dataset } = document.body;
	const byId = (id) => document.getElementById(id);
	const ENDED = 4403, STALE_S = 5;
	let { revision } = dataset, asOf = +dataset.asOf || 0, tries = 0, isLive = false, hasEnded = false, socket;

	const wordsOf = (element) => element.textContent.replace(/\s+/g, " ").trim();
	const secondsSince = (epochMs) => Math.max(0, Date.now() - epochMs) / 1e3;
	const rounded = (seconds) =>
		seconds < 60 ? `${seconds | 0} s` : seconds < 3600 ? `${(seconds / 60) | 0} min` : `${(seconds / 3600) | 0} h`;
	const age = (seconds) => `${rounded(seconds)} ago`;
	function wordTimes(root) {
		root.querySelectorAll("time").forEach((time) => {
			const seconds = secondsSince(Date.parse(time.dateTime));
			time.textContent = seconds < 86400 ? age(seconds) : time.dateTime.slice(0, 10);
		});
	}
	function tellFreshness() {
		const seconds = secondsSince(asOf * 1e3), isStale = !asOf || seconds > STALE_S;
		const standing = isLive ? (isStale ? "Stale" : "Live") : "Reconnecting";
		const told = asOf ? ` · ${seconds < 10 ? `${seconds.toFixed(1)} s ago` : age(seconds)}` : "";
		byId("freshness").classList.toggle("old", hasEnded || !isLive || isStale);
		byId("freshness").textContent = hasEnded ? "Ended" : `${standing} · revision ${revision}${told}`;
	}

	function parse(html) {
		const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
		return [...content.children].map((element) => element.content?.firstElementChild ?? element);
	}
	function put(part) {
		const old = byId(part.id);
		if (!old) return;
		part.querySelectorAll("details").forEach((details) => {
			details.open = !!byId(details.id)?.open;
		});
		for (const row of part.cells ? [part] : part.rows ?? []) {
			const before = byId(row.id);
			if (row.dataset.severity && (!before || wordsOf(before) !== wordsOf(row))) row.classList.add("changed");
		}
		old.replaceWith(part);
	}
	function take(frame) {
		const end = frame.indexOf("\n"), head = JSON.parse(frame.slice(0, end));
		if (head.from !== null && head.from != revision) return open(""); // told everything anew
		[revision, asOf] = [head.to, head.as_of ?? 0];
		const parts = parse(frame.slice(end));
		[document, ...parts].forEach(wordTimes); // rows are compared as they are worded
		parts.forEach(put);
		tellFreshness();
	}
	function end() {
		hasEnded = true;
		byId("view").replaceChildren();
		byId("ended").hidden = false;
		tellFreshness();
	}
	function open(query) {
		if (socket) {
			socket.onclose = socket.onmessage = null;
			socket.close();
		}
		const url = new URL(dataset.socket.split("?")[0] + query, location.href);
		url.protocol = url.protocol.replace("http", "ws");
		socket = new WebSocket(url);
		socket.onopen = () => {
			isLive = true;
		};
		socket.onmessage = ({ data }) => {
			tries = 0;
			take(data);
		};
		socket.onclose = ({ code }) => {
			isLive = false;
			if (code === ENDED) return end();
			tellFreshness();
			setTimeout(open, Math.random() * Math.min(8e3, 1e3 * 2 ** ++tries), "");
		};
	}
	open(`?${dataset.socket.split("?")[1]}`);
	setInterval(tellFreshness, 1e3);
	setInterval(wordTimes, 15e3, document);
	if (dataset.again) {
		setInterval(() => hasEnded || (getSelection().isCollapsed && location.reload()), dataset.again * 1e3);
	}
	wordTimes(document);
	tellFreshness();
})();
