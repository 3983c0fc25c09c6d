/** The main job of the project as a story one can watch; see `--help`. */
import { runDemo } from "./demo.js";
import { readOptions } from "./options.js";

const read = readOptions(process.argv.slice(2));
process.exitCode = "exit" in read ? read.exit : await runDemo(read.options);
