import { t as UsageError } from "./overrides.js";
import { r as reasonOf } from "./one-line.js";
import { r as openConduit } from "./conduit.js";
import { readFile } from "node:fs/promises";

// src/config/secret.ts
/** One line of text; throws a `UsageError` that says where it was looked for and nothing of it. */
async function readSecret({ what, path, variable }) {
	const secret = (path === void 0 ? process.env[variable ?? ""] ?? "" : await readText(what, path)).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(secret)) return secret;
	const where = path === void 0 ? `${variable} in the environment` : `the file ${path}`;
	throw new UsageError(`${what} is missing: ${where} ${secret === "" ? "is empty" : "has more than a line"}; write it there and nothing else.`);
}
const readText = (what, path) => readFile(path, "utf8").catch((error) => {
	throw new UsageError(`${what} is missing: ${path} cannot be read (${reasonOf(error)}).`);
});

// src/patch/phabricator-login.ts
const tokenVariable = "PPSGATE_CONDUIT_TOKEN";
/** Throws a `UsageError` where the configuration has none. */
function phabricatorOf({ phabricator }) {
	if (phabricator !== void 0) return phabricator;
	throw new UsageError("ppsgate.yml has no `phabricator`: write at least `phabricator: { url: https://reviews.example.org }` there.");
}
/** Throws a `UsageError` where there is no token. */
async function openPhabricator({ url, tokenPath }, options) {
	const place = {
		what: "The Conduit token",
		path: tokenPath,
		variable: tokenVariable
	};
	return openConduit({
		...options,
		url,
		token: await readSecret(place)
	});
}

export { readSecret as i, phabricatorOf as n, tokenVariable as r, openPhabricator as t };