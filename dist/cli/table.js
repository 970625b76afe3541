// src/cli/table.ts
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
const hasColours = ({ isTTY }) => isTTY === true && !process.env.NO_COLOR;
const print = (text) => void process.stdout.write(`${text}\n`);
/** Writes bytes, for programs, independent of the locale. */
const printJson = (value) => void process.stdout.write(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
/** `14:02` today, `2026-11-20 14:02` on any other day, in local time. */
function clockText(iso, now) {
	const [then, today] = [new Date(iso), now].map((date) => date.toLocaleString("sv-SE"));
	const [day, time = ""] = (then ?? "").split(" ");
	const minute = time.slice(0, 5);
	return today?.split(" ")[0] === day ? minute : `${day} ${minute}`;
}

export { clockText, hasColours, oneLine, print, printJson };