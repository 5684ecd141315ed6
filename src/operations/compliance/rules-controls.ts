import { accessControls } from './rules-controls-access.ts'
import { dataControls } from './rules-controls-data.ts'
import { serviceControls } from './rules-controls-service.ts'

/**
 * A feature that protects data, in one sentence, and the tests that prove it: the file in test/ and the titles in it.
 * Titles are those in the source, with the titles around them: `describe > test`.
 */
export type Control = { title: string; feature: string; tests: Record<string, readonly string[]> }

export const controls = { ...accessControls, ...dataControls, ...serviceControls }

export type ControlName = keyof typeof controls
