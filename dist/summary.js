import { c as median$1 } from "./student.js";

// src/report/format.ts
/** `4.982 Mpps`, `805.3 kpps`. */
function formatPps(pps) {
	if (pps >= 1e6) return `${fourDigits(pps / 1e6)} Mpps`;
	return pps >= 1e3 ? `${fourDigits(pps / 1e3)} kpps` : `${fourDigits(pps)} pps`;
}
/** `1,057 ns`. */
const formatNanoseconds = (ns) => `${grouped(Number(ns.toPrecision(4)))} ns`;
const formatMetric = (value, metric) => metric === "pps" ? formatPps(value) : formatNanoseconds(value);
/** What a metric is called, and which way is better. */
const metricName = (metric) => metric === "pps" ? "packets per second (more is better)" : "CPU time per packet (less is better)";
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** `+6.79 … +9.86`, in percent. */
const formatInterval = (low, high) => `${signedPercent(low)} … ${signedPercent(high)}`;
/** `2 %`. */
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `2,000`. */
const grouped = (value) => value.toLocaleString("en-US");
/** `41 s`, `2 min 5 s`. */
function formatDuration(seconds) {
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
/** `some 25 min`, of what is only expected. */
const expectedly = (seconds) => seconds < 30 ? roughly(seconds) : `some ${roughly(seconds)}`;
/** `25 min`: nobody plans by seconds. */
function roughly(seconds) {
	const minutes = Math.round(seconds / 60);
	if (minutes < 1) return "under 1 min";
	if (minutes < 120) return `${minutes} min`;
	const hours = Math.round(minutes / 60);
	return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
function signedPercent(ratio) {
	const percent = Math.abs(ratio * 100);
	const digits = percent < 10 ? 2 : percent < 100 ? 1 : 0;
	const shown = percent.toFixed(digits);
	if (Number(shown) === 0) return `±${shown}`;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
function fourDigits(value) {
	if (value === 0) return "0";
	return value < 1e3 ? value.toPrecision(4) : value.toFixed(0);
}

// src/stats/summary.ts
/** The middle value, or the mean of the two in the middle; 0 where there is none. */
const median = (values) => values.length === 0 ? 0 : median$1(values);

export { formatInterval as a, formatPps as c, roughly as d, formatDuration as i, grouped as l, expectedly as n, formatMetric as o, formatChange as r, formatPercent as s, median as t, metricName as u };