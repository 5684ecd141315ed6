import { parentPort, workerData } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/** The password, and words that an attacker would try first for this person. */
export type Estimate = { password: string; words: string[] }

const { password, words } = workerData as Estimate
const { guessesLog10 } = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }).check(password, words)
parentPort?.postMessage(guessesLog10)
