import { canBecome, isEnd, type Method, type Phase, phases, stepsOf } from '../src/contract/labs/lifecycle.ts'

/**
 * The layout of a lifecycle diagram. Each step has its own row, grouped by phase. The usual path is a straight line on the left;
 * all other transitions are rails on the right, with a dot where a step joins and an arrow where the rail ends. Rails in the same
 * lane never overlap, whatever the lifecycle table contains.
 */

type Tone = 'live' | 'good' | 'warn' | 'idle' | 'bad'
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
type Band = { phase: Phase; y: number; height: number }
export type Rail = { to: Box; from: Box[]; x: number; lane: number; begin: number; end: number }
export type Diagram = { width: number; height: number; bands: Band[]; boxes: Box[]; spine: [Box, Box][]; rails: Rail[] }

export const BOX = 34
const MARGIN = 12
export const SPINE = MARGIN + 30
const GAP = 14
const INDENT = 36
const LABEL = 30
const LANE = 15
const LETTER = 7.55

export function diagramOf(method: Method): Diagram {
  const width = boxWidth(method)
  const { bands, boxes } = stackSteps(method, width)
  const spine = spineOf(method, boxes)
  const rails = assignLanes(railsOf(method, boxes, spine), MARGIN + 14 + width + 20)
  const right = Math.max(...rails.map(({ x }) => x)) + 18
  const last = bands.at(-1) as Band
  return { width: right + MARGIN, height: last.y + last.height + MARGIN, bands, boxes, spine, rails }
}

const boxWidth = (method: Method) => {
  const longest = Math.max(...Object.keys(stepsOf(method)).map((low) => low.length))
  return Math.ceil(INDENT + longest * LETTER + 46)
}

/** Stacks the phases from top to bottom, with their steps in table order. */
function stackSteps(method: Method, width: number) {
  const path = usualPath(method)
  const bands: Band[] = []
  const boxes: Box[] = []
  let y = MARGIN
  for (const phase of phases) {
    const lows = Object.keys(stepsOf(method)).filter((low) => stepsOf(method)[low]?.phase === phase)
    if (!lows.length) continue
    const begin = y
    y += LABEL
    for (const low of lows) {
      const usual = path.includes(low)
      const x = MARGIN + 14 + (usual ? 0 : INDENT)
      const across = width - (usual ? 0 : INDENT)
      boxes.push({
        ...{ low, x, y, width: across, usual, repeats: canBecome(method, low, low), tone: toneOf(method, low) },
        ...{ out: y + BOX * 0.68, into: y + BOX * 0.32 },
      })
      y += BOX + GAP
    }
    bands.push({ phase, y: begin, height: y - begin })
    y += 8
  }
  return { bands, boxes }
}

function toneOf(method: Method, low: string): Tone {
  const phase = stepsOf(method)[low]?.phase
  if (phase === 'completed') return 'good'
  if (phase === 'cancelled') return 'idle'
  if (phase === 'failed') return 'bad'
  return isEnd(method, low) ? 'warn' : 'live'
}

/** The steps that most orders take to their results. */
export function usualPath(method: Method) {
  const path = ['ordered']
  for (let next = stepsOf(method)['ordered']?.next; next; next = stepsOf(method)[next]?.next) path.push(next)
  return path
}

function spineOf(method: Method, boxes: Box[]): [Box, Box][] {
  const path = usualPath(method).map((low) => boxes.find((box) => box.low === low) as Box)
  return path.slice(1).map((box, i) => [path[i] as Box, box])
}

/** One rail for each step that can be reached off the usual path. */
function railsOf(method: Method, boxes: Box[], spine: [Box, Box][]) {
  const isSpine = (from: Box, to: Box) => spine.some(([a, b]) => a === from && b === to)
  return boxes.flatMap((to) => {
    const from = boxes.filter((box) => box !== to && canBecome(method, box.low, to.low) && !isSpine(box, to))
    const ends = [to.into, ...from.map(({ out }) => out)]
    return from.length ? [{ to, from, begin: Math.min(...ends), end: Math.max(...ends) }] : []
  })
}

/** Places short rails next to the boxes and long ones outside, each in the first free lane. */
function assignLanes(rails: Omit<Rail, 'x' | 'lane'>[], first: number): Rail[] {
  const placed: Rail[] = []
  for (const rail of rails.toSorted((a, b) => a.end - a.begin - (b.end - b.begin))) {
    let lane = 0
    while (placed.some((other) => other.lane === lane && other.begin <= rail.end + 4 && rail.begin <= other.end + 4)) lane++
    placed.push({ ...rail, lane, x: first + lane * LANE })
  }
  return placed
}
