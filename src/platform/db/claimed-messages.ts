/** A message in a lane that a worker claimed in the statement that wrote its event. */
export type ClaimedMessage = {
  event_id: string
  event_at: string
  webhook_id: string
  revision: number
  lane_id: string
  lane_key: string
  n: number
}

/** What a statement that writes events returns: the claimed messages, and the webhooks with others. */
export type EmittedMessages = { receivers: string[]; claimed: ClaimedMessage[] }

/** The parameters of such a statement: the worker, its lease, and the number of lanes per event. Without a worker they are null. */
export type LaneClaim = [worker: string | null, lease: string | null, most: number | null]

export const noClaim: LaneClaim = [null, null, null]
