import { neededPrograms, openLinuxTestbed, ourFolder, ourPrograms } from "../netns.js";

export { openLinuxTestbed };