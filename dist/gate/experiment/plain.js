import { lastLine, shortened } from "../../model/first-plain.js";

// src/gate/experiment/rejection-message.ts
/** Reports a base that does not work, without which a patch has no verdict. */
var BaseRejectedError = class extends Error {
	name = "BaseRejectedError";
	constructor(rejection) {
		super(`The base itself ${faultOf(rejection)}, so nothing was measured: ${whyRejected(rejection)}`);
	}
};
function whyRejected(rejection) {
	const { message } = rejection;
	const panic = "panic" in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : "";
	const shown = "console" in rejection ? lastLine(rejection.console ?? "") : void 0;
	return `${message}${panic}${panic || !shown ? "" : ` Last lines of its console: "${shortened(shown)}".`}`;
}
/** `does not boot: …`; follows the variant's name. */
const rejectionMessage = (rejection) => `${faultOf(rejection)}: ${whyRejected(rejection)}`;
/** `does not boot`; follows the variant's name. */
const faultOf = ({ kind }) => faults[kind];
const faults = {
	"does-not-apply": "does not apply",
	"build-failed": "does not build",
	"out-of-disk": "runs out of disk space",
	"does-not-load": "does not load",
	"boot-failed": "does not boot",
	"panics-under-load": "panics under load"
};

export { BaseRejectedError, faultOf, rejectionMessage };