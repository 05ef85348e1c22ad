// A field of many names gets a box beside it that suggests them, which no browser does in such a field by itself.
document.querySelectorAll("textarea[data-list]").forEach((field) => {
	const box = document.createElement("input");
	const noun = field.dataset.list.replace("known-", "").replace(/s$/, "");
	box.setAttribute("list", field.dataset.list);
	Object.assign(box, { placeholder: `Add a ${noun}`, ariaLabel: `Add a ${noun}`, className: "picker", autocomplete: "off" });
	field.before(box);
	const names = () => field.value.split("\n").filter(Boolean);
	const add = () => {
		if (!box.value) return;
		if (!names().includes(box.value)) field.value = [...names(), box.value].join("\n");
		box.value = "";
	};
	box.addEventListener("change", add);
	box.addEventListener("keydown", (event) => {
		if (event.key !== "Enter") return;
		event.preventDefault();
		add();
	});
});
