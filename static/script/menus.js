// Menus close by a click elsewhere and by Escape, as menus do.
import { select } from "./elements.js";

const openMenus = () => select("details:is(.switch, .person, .columns)[open]");

document.addEventListener("click", ({ target }) => {
	openMenus().filter((menu) => !menu.contains(target)).forEach((menu) => {
		menu.open = false;
	});
});
document.addEventListener("keydown", ({ key }) => {
	if (key !== "Escape") return;
	openMenus().forEach((menu) => {
		menu.open = false;
		menu.querySelector("summary").focus();
	});
});
