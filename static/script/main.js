// What every page runs; each module does its own part as it is loaded.
import "./filters.js";
import "./frames.js";
import "./keys.js";
import "./menus.js";
import "./palette.js";
import "./rows.js";
import { byId } from "./elements.js";
import { tellFreshness } from "./freshness.js";
import { wordTimes } from "./times.js";

wordTimes();
if (byId("socket")) tellFreshness();
