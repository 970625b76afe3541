import { isOfGate, namingStyles, parameter, parametersThat } from "../../config/parameters.js";

// src/cli/commands/gate-options.ts
/** Adds the options of a gate that `has` accepts by the parameter's name. */
function addGateOptions(command, has) {
	const all = parametersThat((one) => isOfGate(one) && one.option !== void 0);
	for (const name of all.filter(has)) {
		const { flags = namingStyles.flag(name), value, help = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, help, usual);
	}
}

export { addGateOptions };