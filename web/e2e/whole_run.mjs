/** True in `cargo xtask test --all`. */
export const isWholeRun = process.env.MEMTRAIL_TEST_ALL !== undefined;
