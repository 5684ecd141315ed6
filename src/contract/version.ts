/** The release, as package.json has it. */
export const version = '0.2.0'

/** The version of the Junction interface description that Assay implements. */
export const interfaceVersion = '0.4.617'
