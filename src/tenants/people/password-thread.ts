import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/** The password, and words that an attacker would try first for this person. */
export type Estimate = { password: string; words: string[] }

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

parentPort?.on('message', ({ password, words }: Estimate) => parentPort?.postMessage(zxcvbn.check(password, words).guessesLog10))
