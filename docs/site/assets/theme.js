// Runs before the page is drawn, so that it does not flash in the other colors.
const theme = localStorage.getItem("theme");
if (theme) document.documentElement.dataset.theme = theme;
