// Sets what this browser remembers, the theme and the columns that tables leave out, before anything is drawn:
// a script of its own, which the page waits for.
{
	const root = document.documentElement, sheet = new CSSStyleSheet();
	root.dataset.theme = localStorage.theme ?? "";
	document.addEventListener("DOMContentLoaded", () => {
		const choice = document.getElementById("theme");
		choice.value = root.dataset.theme;
		choice.onchange = () => {
			localStorage.theme = root.dataset.theme = choice.value;
		};
	});
	document.adoptedStyleSheets = [sheet];
	sheet.replaceSync(Object.values(JSON.parse(localStorage.columns ?? "{}")).map(({ rule }) => rule).join(""));
}
