/** What other features do with the logs of teams. */
export {
  clearDue,
  deleteFromDefault as deleteEventsFromDefault,
  disown,
  findLast,
  findLastBefore,
  listEventsAt,
  listOwned,
  moveEvents,
  releaseTeam,
} from './store-log.ts'
