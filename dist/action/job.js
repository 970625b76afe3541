import { bisectName, bisectSelector, gateNames, openJob, readConfigFor, reporterNames, restoreCommits, revisionDepsOf, selectorsFor } from "./job2.js";

export { bisectName, bisectSelector, gateNames, openJob, readConfigFor, reporterNames, restoreCommits, revisionDepsOf, selectorsFor };