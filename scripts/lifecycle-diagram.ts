import { canBecome, isEnd, type Method, stepsOf, type TopLevel, topLevels } from '../src/contract/labs/lifecycle.ts'

/**
 * Where everything of a lifecycle's picture is. Each step has a row of its own, by phase; the usual way is a straight line on the left, and
 * what else may follow comes by rails on the right: a dot is where a step gets on, the arrow is where it gets off. Lines on
 * one rail never meet, so nothing can overlap whatever the table says.
 */

export type Tone = 'live' | 'good' | 'warn' | 'idle' | 'bad'
export type Box = {
  low: string
  x: number
  y: number
  width: number
  usual: boolean
  repeats: boolean
  tone: Tone
  out: number
  into: number
}
export type Band = { top: TopLevel; y: number; height: number }
export type Rail = { to: Box; from: Box[]; x: number; lane: number; begin: number; end: number }
export type Diagram = { width: number; height: number; bands: Band[]; boxes: Box[]; spine: [Box, Box][]; rails: Rail[] }

export const BOX = 34
export const MARGIN = 12
export const SPINE = MARGIN + 30
const GAP = 14
const INDENT = 36
const LABEL = 30
const LANE = 15
const LETTER = 7.55

export function diagramOf(method: Method): Diagram {
  const width = boxWidth(method)
  const { bands, boxes } = stacked(method, width)
  const spine = spineOf(method, boxes)
  const rails = laid(railsOf(method, boxes, spine), MARGIN + 14 + width + 20)
  const right = Math.max(...rails.map(({ x }) => x)) + 18
  const last = bands.at(-1) as Band
  return { width: right + MARGIN, height: last.y + last.height + MARGIN, bands, boxes, spine, rails }
}

const boxWidth = (method: Method) => {
  const longest = Math.max(...Object.keys(stepsOf(method)).map((low) => low.length))
  return Math.ceil(INDENT + longest * LETTER + 46)
}

/** Phases from top to bottom, their steps in the order of the table. */
function stacked(method: Method, width: number) {
  const way = usualWay(method)
  const bands: Band[] = []
  const boxes: Box[] = []
  let y = MARGIN
  for (const top of topLevels) {
    const lows = Object.keys(stepsOf(method)).filter((low) => stepsOf(method)[low]?.top === top)
    if (!lows.length) continue
    const begin = y
    y += LABEL
    for (const low of lows) {
      const usual = way.includes(low)
      const x = MARGIN + 14 + (usual ? 0 : INDENT)
      const across = width - (usual ? 0 : INDENT)
      boxes.push({
        ...{ low, x, y, width: across, usual, repeats: canBecome(method, low, low), tone: toneOf(method, low) },
        ...{ out: y + BOX * 0.68, into: y + BOX * 0.32 },
      })
      y += BOX + GAP
    }
    bands.push({ top, y: begin, height: y - begin })
    y += 8
  }
  return { bands, boxes }
}

function toneOf(method: Method, low: string): Tone {
  const top = stepsOf(method)[low]?.top
  if (top === 'completed') return 'good'
  if (top === 'cancelled') return 'idle'
  if (top === 'failed') return 'bad'
  return isEnd(method, low) ? 'warn' : 'live'
}

/** The way to results that most orders take. */
export function usualWay(method: Method) {
  const way = ['ordered']
  for (let next = stepsOf(method)['ordered']?.next; next; next = stepsOf(method)[next]?.next) way.push(next)
  return way
}

function spineOf(method: Method, boxes: Box[]): [Box, Box][] {
  const way = usualWay(method).map((low) => boxes.find((box) => box.low === low) as Box)
  return way.slice(1).map((box, i) => [way[i] as Box, box])
}

/** One rail for each step that is reached in another way than the usual one. */
function railsOf(method: Method, boxes: Box[], spine: [Box, Box][]) {
  const isSpine = (from: Box, to: Box) => spine.some(([a, b]) => a === from && b === to)
  return boxes.flatMap((to) => {
    const from = boxes.filter((box) => box !== to && canBecome(method, box.low, to.low) && !isSpine(box, to))
    const ends = [to.into, ...from.map(({ out }) => out)]
    return from.length ? [{ to, from, begin: Math.min(...ends), end: Math.max(...ends) }] : []
  })
}

/** Short ones next to the boxes, long ones outside; each takes the first lane that is free along it. */
function laid(rails: Omit<Rail, 'x' | 'lane'>[], first: number): Rail[] {
  const placed: Rail[] = []
  for (const rail of rails.toSorted((a, b) => a.end - a.begin - (b.end - b.begin))) {
    let lane = 0
    while (placed.some((other) => other.lane === lane && other.begin <= rail.end + 4 && rail.begin <= other.end + 4)) lane++
    placed.push({ ...rail, lane, x: first + lane * LANE })
  }
  return placed
}
