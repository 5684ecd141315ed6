/** The only place that reads the environment. */
export const environment = (): NodeJS.ProcessEnv => process.env

/** The text of a setting. An empty one counts as unset. */
export const settingIn = (env: NodeJS.ProcessEnv, name: string) => env[name]?.trim() || undefined
