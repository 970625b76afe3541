import { require_fastest_levenshtein } from "../vendor/fastest-levenshtein.js";
import { expected } from "../model/excerpt.js";

// src/config/did-you-mean.ts
var import_fastest_levenshtein = require_fastest_levenshtein();
/** Returns `; did you mean …?` with the result of `meantBy`, or an empty text. */
function didYouMean(word, names) {
	const meant = meantBy(word, names).map((name) => `\`${name}\``);
	return meant.length === 0 ? "" : `; did you mean ${meant.join(" or ")}?`;
}
function wrongName(names) {
	return ({ input }) => {
		const message = expected(`one of ${names.join(", ")}`)({ input });
		return typeof input === "string" ? message + didYouMean(input, names) : message;
	};
}
/** Suggests synonyms, else names that contain the word, else the nearest within a third of its letters. */
function meantBy(word, names) {
	const plain = plainKey(word);
	const other = otherWords.get(plain) ?? plain;
	const parts = names.filter((name) => [name, ...name.split(/[-/]/)].map(plainKey).includes(other));
	if (plain !== "" && parts.length > 0) return parts.slice(0, maxSuggestions);
	const [nearest] = names.map((name) => ({
		name,
		edits: (0, import_fastest_levenshtein.distance)(plain, plainKey(name))
	})).filter(({ name, edits }) => edits <= Math.ceil(name.length / 3)).toSorted((a, b) => a.edits - b.edits);
	return nearest === void 0 ? [] : [nearest.name];
}
const maxSuggestions = 3;
const plainKey = (name) => name.toLowerCase().replace(/[-_ ]/g, "");
/** Common unambiguous synonyms, in the form of `plainKey`. */
const otherWords = new Map([
	...[
		"ipv4",
		"ip4",
		"v4",
		"inet"
	].map((word) => [word, "inet4"]),
	...[
		"ipv6",
		"ip6",
		"v6"
	].map((word) => [word, "inet6"]),
	...[
		"cpu",
		"ns",
		"nanoseconds",
		"cputime"
	].map((word) => [word, "nsperpacket"]),
	["instructions", "instructionsperpacket"],
	["packetspersecond", "pps"],
	["nft", "nftables"],
	["routing", "forwarding"],
	["size", "bytes"]
]);

export { didYouMean, meantBy, plainKey, wrongName };