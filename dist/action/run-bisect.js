import { bisect } from "../gate/bisect.js";
import { randomSeed } from "../gate/experiment/first.js";
import { inSession } from "../gate/first.js";
import { UsageError } from "../model/first-plain.js";
import { isBisection } from "./approved-request.js";
import { bisectPlan, requestedOf } from "./bisect-plan.js";
import { bisectName } from "./job.js";
import { runMeasuringJob } from "./measuring-job.js";

// src/action/run-bisect.ts
const runBisect = (context, signal, within = inSession) => runMeasuringJob({
	command: "bisect",
	onAdmission: onlyBisection,
	plan
}, context, {
	within,
	signal
});
const onlyBisection = (admission) => admission.kind === "gate" || admission.kind === "cancel" ? {
	kind: "nothing",
	why: noGate
} : admission;
const noGate = "A job with `command: bisect` judges no patch: use a job with `command: gate`.";
function plan(request, written, context) {
	if (!isBisection(request)) throw new UsageError(noGate);
	const { testbeds, ...planned } = bisectPlan(request, written, context);
	const { repository, inputs } = context;
	const { good, bad, overrides } = request;
	const commits = {
		good,
		bad,
		fixUps: listed(overrides.fixUp),
		skips: listed(overrides.skip)
	};
	return {
		config: planned.config,
		targets: [{
			name: bisectName,
			selector: "",
			testbeds
		}],
		async measure({ directory }, deps) {
			const question = {
				...commits,
				...planned,
				testbeds,
				seed: randomSeed()
			};
			return {
				kind: "bisected",
				result: await bisect(question, directory, {
					...deps,
					repository
				}),
				request: requestedOf(request),
				links: { rawData: `the [job](${inputs.job.runUrl})` }
			};
		}
	};
}
const listed = (text = "") => text.split(",").filter(Boolean);

export { runBisect };