// src/xml.ts
/** Between tags and in quoted attributes. A space stands for what XML has no place for, and for what hides text or turns it around. */
const escaped = (text) => text.replace(unfit, " ").replace(/[&<>"']/g, (one) => entities[one] ?? "");
const unfit = /[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu;
const entities = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	"\"": "&quot;",
	"'": "&#39;"
};

export { escaped as t };