// An embed's script: takes frames, words ages, says when it ends. It runs without an origin, so without storage.
(() => {
	const doc = document, { dataset } = doc.body;
	const $ = (id) => doc.getElementById(id);
	const OVER = 4403;
	let { revision } = dataset, asOf = +dataset.asOf || 0, tries = 0, live = false, over = false, socket;

	const words = (el) => el.textContent.replace(/\s+/g, " ").trim();
	const since = (ms) => Math.max(0, Date.now() - ms) / 1e3;
	const age = (s) => (s < 60 ? `${s | 0} s` : s < 3600 ? `${(s / 60) | 0} min` : `${(s / 3600) | 0} h`) + " ago";
	function ages(root) {
		root.querySelectorAll("time").forEach((t) => {
			const s = since(Date.parse(t.dateTime));
			t.textContent = s < 86400 ? age(s) : t.dateTime.slice(0, 10);
		});
	}
	function fresh() {
		const s = since(asOf * 1e3), old = !asOf || s > 5;
		$("freshness").classList.toggle("old", over || !live || old);
		$("freshness").textContent = over ? "Ended" : (live ? (old ? "Stale" : "Live") : "Reconnecting") +
			` · revision ${revision}` + (asOf ? " · " + (s < 10 ? s.toFixed(1) + " s ago" : age(s)) : "");
	}

	function parse(html) {
		const { content } = Object.assign(doc.createElement("template"), { innerHTML: html });
		return [...content.children].map((el) => el.content?.firstElementChild ?? el);
	}
	function put(el) {
		const old = $(el.id);
		if (!old) return;
		el.querySelectorAll("details").forEach((d) => { d.open = !!$(d.id)?.open; });
		for (const row of el.cells ? [el] : el.rows ?? []) {
			const was = $(row.id);
			if (row.dataset.tone && (!was || words(was) !== words(row))) row.classList.add("changed");
		}
		old.replaceWith(el);
	}
	function take(frame) {
		const at = frame.indexOf("\n"), head = JSON.parse(frame.slice(0, at));
		if (head.from !== null && head.from != revision) return open(""); // told everything anew
		[revision, asOf] = [head.to, head.as_of ?? 0];
		const found = parse(frame.slice(at));
		[doc, ...found].forEach(ages); // rows are compared as they are worded
		found.forEach(put);
		fresh();
	}
	function end() {
		over = true;
		$("view").replaceChildren();
		$("ended").hidden = false;
		fresh();
	}
	function open(query) {
		if (socket) socket.onclose = socket.onmessage = null, socket.close();
		const url = new URL(dataset.socket.split("?")[0] + query, location.href);
		url.protocol = url.protocol.replace("http", "ws");
		socket = new WebSocket(url);
		socket.onopen = () => { live = true; };
		socket.onmessage = ({ data }) => { tries = 0; take(data); };
		socket.onclose = ({ code }) => {
			live = false;
			if (code === OVER) return end();
			fresh();
			setTimeout(open, Math.random() * Math.min(8e3, 1e3 * 2 ** ++tries), "");
		};
	}
	open("?" + dataset.socket.split("?")[1]);
	setInterval(fresh, 1e3);
	setInterval(ages, 15e3, doc);
	if (dataset.again) setInterval(() => over || getSelection().isCollapsed && location.reload(), dataset.again * 1e3);
	ages(doc);
	fresh();
})();
