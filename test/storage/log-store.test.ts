import { describeLogStore } from "../conformance/log-store.ts";
import { makeLevelHarness } from "./level-harness.ts";

describeLogStore("LevelDB", makeLevelHarness);
