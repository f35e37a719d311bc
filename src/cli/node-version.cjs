// The one check of the Node version, shared by the binary and the bootstrap. It must parse and
// run on any Node that somebody may have, so it uses old syntax and nothing but its arguments.
// The rule is `engines` in package.json: 20.19 for `require` of ES modules and the level binding,
// and no odd lines.
"use strict";

/** One line with cause and remedy when this Node cannot run Cadastre, undefined when it can. */
exports.nodeVersionRefusal = function nodeVersionRefusal(versionText) {
  const parts = versionText.split(".").map(Number);
  const major = parts[0];
  const minor = parts[1];
  if (major >= 22 || (major === 20 && minor >= 19)) return undefined;
  return (
    "cadastre: Node " +
    versionText +
    " is too old or unsupported; it needs Node 20.19 or a later 20.x (tested), or 22 and above." +
    " Install one, for example with `nvm install 20`, and run the command again."
  );
};
