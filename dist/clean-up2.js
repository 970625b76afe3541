import { a as openAnswerText, i as leaseState, n as cleanUp, r as labState, t as answerState } from "./clean-up.js";

export { cleanUp };