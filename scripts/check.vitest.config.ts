import { defineConfig } from 'vitest/config'

/** The architecture test reads files only, so the check starts no database. */
export default defineConfig({ test: { root: '.' } })
