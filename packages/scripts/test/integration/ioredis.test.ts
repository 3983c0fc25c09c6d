import { adapterTests } from "../support/adapter.js";
import { ioredisMakers } from "../support/makers.js";

adapterTests(ioredisMakers);
