/** The audit rows in their chains and those in the outbox, for a FROM list. The outbox has no `chain_seq` and `chain_hash`. */
export const auditRows = '(select * from audit_log union all select *, null, null from audit_outbox) audit_log'
