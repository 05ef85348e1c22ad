// Sets the theme that was chosen before anything is drawn: a script of its own, which the page waits for.
{
	const root = document.documentElement;
	root.dataset.theme = localStorage.theme ?? "";
	document.addEventListener("DOMContentLoaded", () => {
		const choice = document.getElementById("theme");
		choice.value = root.dataset.theme;
		choice.onchange = () => {
			localStorage.theme = root.dataset.theme = choice.value;
		};
	});
}
