import { reasonOf } from "../model/first-plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { isIP } = globalThis.process.getBuiltinModule("node:net");
const { connect: connect$1 } = globalThis.process.getBuiltinModule("node:tls");

// src/system/certificate.ts
var PinError = class extends Error {
	certificate;
	constructor(certificate) {
		super("not the one that is pinned");
		this.certificate = certificate;
	}
};
/** Closes the socket and returns the error for any other certificate. */
function verifyPin(socket, sha256) {
	const certificate = socket.getPeerX509Certificate();
	if (sha256Of(certificate) === sha256) return void 0;
	socket.destroy();
	return new PinError(certificate);
}
const sha256Of = (certificate) => certificate?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
/** Accepts every certificate. The caller must verify it before it sends anything. */
function connectUnverified({ hostname, port }, certificates, signal) {
	const host = hostname.replace(/^\[|\]$/g, "");
	const socket = connect$1({
		...certificates,
		host,
		port: Number(port || 443),
		...isIP(host) === 0 && { servername: host },
		rejectUnauthorized: false
	});
	const stop = () => socket.destroy(signal.reason);
	signal.addEventListener("abort", stop);
	socket.once("close", () => signal.removeEventListener("abort", stop));
	return socket.on("error", () => {});
}
/**
* Describes the certificate that `error` refers to. Opens a second connection to read it: Node has dropped most of it
* by then.
*/
async function describeDistrust(error, url, trust, signal) {
	const certificate = error instanceof PinError ? error.certificate : await readCertificate(url, trust, signal);
	const names = namesOf(error);
	const found = (fault, what) => ({
		fault,
		shown: `a certificate ${what}`,
		reason: reasonOf(error),
		names,
		sha256: sha256Of(certificate)
	});
	if (error instanceof PinError) return found("pin", "that is not the one that is pinned");
	const code = error instanceof Error && "code" in error ? String(error.code) : "";
	if (unsigned.test(code)) return found("authority", `${"ca" in trust && trust.ca !== void 0 ? "that the authority of `ca` has not signed" : "that no authority trusted by this machine has signed"} (${code})`);
	if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return found("name", `for ${names.replace(/\b(?:DNS|IP Address):/g, "").slice(0, maxNamesLength)}, and not for ${url.hostname} (${code})`);
	if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return found("time", `${goodWhen(certificate)} (${code})`);
	return found("other", `that is not valid: ${reasonOf(error)} (${code})`);
}
const unsigned = /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY)|DEPTH_ZERO_SELF|SELF_SIGNED|CERT_UNTRUSTED)/;
const maxNamesLength = 200;
const namesOf = (error) => error.cert?.subjectaltname || "no name at all";
function goodWhen(certificate) {
	const now = /* @__PURE__ */ new Date();
	if (certificate !== void 0) {
		const [from, until] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
		if (until < now) return `that expired on ${dayOf(until)}`;
		if (from > now) return `that is valid only from ${dayOf(from)}`;
	}
	return "whose authority has no certificate that is valid today";
}
const dayOf = (date) => date.toISOString().replace(/T(.{5}).*/, " $1 UTC");
async function readCertificate(url, trust, signal) {
	const socket = connectUnverified(url, "pinnedSha256" in trust ? {} : trust, signal);
	try {
		await once(socket, "secureConnect", { signal });
		return socket.getPeerX509Certificate();
	} catch {
		return;
	} finally {
		socket.destroy();
	}
}

export { PinError, connectUnverified, describeDistrust, verifyPin };