import { defineConfig } from 'vitest/config'

/** The architecture test reads files only, so the check starts no database. A busy machine may need long for it. */
export default defineConfig({ test: { root: '.', testTimeout: 600_000 } })
