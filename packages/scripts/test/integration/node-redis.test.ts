import { adapterTests } from "../support/adapter.js";
import { nodeRedisMakers } from "../support/makers.js";

adapterTests(nodeRedisMakers);
