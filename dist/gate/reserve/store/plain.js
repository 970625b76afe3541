import { ExposedError, readGuarded } from "../../../config/plain.js";
import { reasonOf } from "../../../model/first-plain.js";
import { StoreError } from "./first-plain.js";
const { createSecureContext } = globalThis.process.getBuiltinModule("node:tls");
const { X509Certificate } = globalThis.process.getBuiltinModule("node:crypto");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/gate/reserve/store/etcd-files.ts
/** Throws a StoreError that names the file. */
async function readCertificates(config) {
	const { caPath, certificatePath, keyPath } = config;
	const ca = caPath === void 0 ? {} : { ca: await readText("authority", caPath) };
	const cert = certificatePath === void 0 ? {} : { cert: await readText("certificate", certificatePath) };
	const key = keyPath === void 0 ? {} : { key: await readText("key", keyPath, readGuarded) };
	refuseUnfit(`the authority file ${caPath}`, () => ca.ca && new X509Certificate(ca.ca));
	refuseUnfit(`the certificate ${certificatePath} and the key ${keyPath}`, () => createSecureContext({
		...cert,
		...key
	}));
	return {
		...ca,
		...cert,
		...key
	};
}
/** Returns undefined without a password. Throws a StoreError that names the file but quotes nothing of it. */
async function readAccount({ user, passwordPath }) {
	if (user === void 0 || passwordPath === void 0) return void 0;
	const password = (await readText("password", passwordPath, readGuarded)).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(password)) return {
		user,
		password
	};
	throw new StoreError(`etcd cannot be used with the password file ${passwordPath}: it is empty or has more than a line; write the password there and nothing else.`);
}
async function readText(what, path, read = (path) => readFile(path, "utf8")) {
	try {
		return await read(path);
	} catch (error) {
		if (error instanceof ExposedError) throw new StoreError(`etcd cannot be used: ${error.message}.`);
		throw new StoreError(`etcd cannot be used without its ${what} file: ${reasonOf(error)}; check the path, and that this user may read it.`, { cause: error });
	}
}
function refuseUnfit(what, use) {
	try {
		use();
	} catch (error) {
		throw new StoreError(`etcd cannot be used with ${what} (${reasonOf(error)}); they must be PEM, and the key must match its certificate.`, { cause: error });
	}
}

export { readAccount, readCertificates };