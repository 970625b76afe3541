import { LabInUseError, claim, claimWhenFree, commandIn, disclaim, withoutOperatorsPart } from "./first-plain.js";

export { claimWhenFree };