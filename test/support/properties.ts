import fc from 'fast-check'
import { seedNumber } from './seeded.ts'

// A failing property names this seed and the path to its counterexample.
fc.configureGlobal({ seed: seedNumber() })

export { fc }
