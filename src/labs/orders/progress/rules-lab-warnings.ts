type Warning = { code: string; path: (string | number)[]; message: string }

const labWarnings = ['lab_rejected', 'lab_cancel_requested', 'lab_cancel_refused', 'lab_status_unconfirmed']

/** The warnings of an order with the one about the lab replaced, or removed. */
export const withLabWarning = (warnings: Warning[], warning?: Warning): Warning[] => [
  ...warnings.filter(({ code }) => !labWarnings.includes(code)),
  ...(warning ? [warning] : []),
]

/** Keeps earlier warnings of the lab, such as a rejection. */
export const withUnconfirmed = (warnings: Warning[], warning: Warning) => [...warnings.filter(({ code }) => code !== warning.code), warning]

export const heldWarning = (codes: string): Warning => ({
  code: 'lab_rejected',
  path: [],
  message: `The lab rejected the order (${codes}). It is held: ask the lab for the reason and have the message sent again, or cancel the order.`,
})

export const cancelRequestedWarning: Warning = {
  code: 'lab_cancel_requested',
  path: [],
  message: 'Assay asked the lab to cancel the order. The lab has not responded yet.',
}

export const refusedWarning = (codes: string): Warning => ({
  code: 'lab_cancel_refused',
  path: [],
  message: `The lab refused to cancel the order (${codes}). The order continues.`,
})

const statusNames: Record<string, string> = {
  accepted: 'accepted',
  in_process: 'in process',
  cancelled: 'canceled',
  cancel_refused: 'not canceled',
  held: 'held',
  rejected_specimen: 'without a usable specimen',
}

/** Warns about a status that may be about another order. It names the fields of the message, never their values. */
export const unconfirmedWarning = (status: string, doubt: string): Warning => ({
  code: 'lab_status_unconfirmed',
  path: [],
  message: `The lab reported this order as ${statusNames[status] ?? status}, but ${doubt}. Assay did not apply the status. Ask the lab, then cancel the order or let it continue.`,
})
