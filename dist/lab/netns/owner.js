import { LabInUseError, claim, claimWhenFree, disclaim, withoutOperatorsPart } from "./first-plain.js";

export { claimWhenFree };