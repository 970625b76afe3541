import { labDown, labLeftovers, labUp, ownerFile } from "./plain.js";

export { labDown, labUp, ownerFile };