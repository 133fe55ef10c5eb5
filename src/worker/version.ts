// The version of this software, shown by `/health`, the metrics and the description of the API, and sent with webhooks.

/** A test keeps it equal to package.json's. */
export const VERSION = "1.0.0";
