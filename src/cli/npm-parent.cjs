// Ends a command with the npm or npx that runs it. npm passes a signal on to the shell between them
// and no further: whoever ends `npm start` or `npx cadastre dev` by its process id would leave the
// command behind, without a parent. Plain CommonJS, shared by the binary and the bootstrap.
"use strict";

const fs = require("node:fs");

const POLL_INTERVAL_MS = 250;
const SHELL = /^(?:ba|da|k|z)?sh$/;

/** Runs `gone` once, when npm or the shell that it started us by is there no more. */
exports.onNpmGone = function onNpmGone(lifecycleEvent, gone) {
  // Elsewhere, to lose one's parent is nothing unusual: `cadastre serve &` in a script.
  if (process.env.npm_lifecycle_event !== lifecycleEvent) return;
  const before = ancestry();
  const timer = setInterval(() => {
    if (ancestry() === before) return;
    clearInterval(timer);
    gone();
  }, POLL_INTERVAL_MS);
  timer.unref();
};

/** Our parent, and if that is a shell, its parent, as far as the system tells. */
function ancestry() {
  const parent = process.ppid;
  let stat = "";
  try {
    stat = fs.readFileSync(`/proc/${parent}/stat`, "utf8");
  } catch {
    return String(parent);
  }
  const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)/s.exec(stat) ?? [];
  return SHELL.test(name) ? `${parent} ${rest.split(" ")[1]}` : String(parent);
}
