import { LabImpossibleError, labPath, readyMachine, requireLab, rerunAsRoot } from "./plain.js";

export { requireLab };