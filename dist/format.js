import { t as cellName } from "./scenario.js";

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
/**
* Where on the report's page a flamegraph of a cell stands, `which` is a variant's or `difference`, and the name of its
* file: `flamegraph-forwarding-inet4-base`.
*/
const flamegraphAnchor = (cell, which) => `flamegraph-${cellName(cell)}-${which}`.replace(/[^\w.-]+/g, "-");
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** `+6.79 … +9.86`, in percent. */
const formatInterval = (low, high) => `${signedPercent(low)} … ${signedPercent(high)}`;
/** `2 %`. */
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `9.3`: a share in percent, where it stands beside another. */
const formatShare = (ratio) => (ratio * 100).toFixed(1);
/** `+3.1`, `−0.8`: what is between two numbers. */
function formatDifference(difference) {
	const shown = Math.abs(difference).toFixed(1);
	if (Number(shown) === 0) return `±${shown}`;
	return `${difference < 0 ? "−" : "+"}${shown}`;
}
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

export { formatDuration as a, formatPercent as c, grouped as d, metricName as f, formatDifference as i, formatPps as l, flamegraphAnchor as n, formatInterval as o, roughly as p, formatChange as r, formatMetric as s, expectedly as t, formatShare as u };