export type Finding = { state: 'ok' | 'warning' | 'wrong' | 'skipped'; text: string; remedy?: string }

export type Check = { name: string; finding: Finding }

/** Runs one check. The caller turns a thrown error into a finding, so that the remaining checks still run. */
export type RunCheck = (name: string, check: () => Finding | Promise<Finding>) => Promise<Check>
