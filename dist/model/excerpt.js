// src/model/excerpt.ts
/** Adds a full stop unless it ends in a question. */
const sentence = (message) => message.endsWith("?") ? message : `${message}.`;
/** At most 40 characters of untrusted text on one line: it may be a secret, or control a terminal. */
function excerpt(text) {
	return (text.length > 40 ? `${text.slice(0, 39)}…` : text).replace(/[\p{C}\p{Zl}\p{Zp}"`]/gu, "?");
}

export { excerpt, sentence };