/** What other features do with the logs of teams. */
export {
  clearDue,
  deleteFromDefault as deleteEventsFromDefault,
  disown,
  findLast,
  findLastBefore,
  listOwned,
  moveEvents,
  releaseTeam,
} from './store-log.ts'
