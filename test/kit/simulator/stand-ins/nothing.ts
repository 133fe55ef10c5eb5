// Takes the place of XMLHttpRequest: long-polling runs over `fetch` here.
export const XMLHttpRequest = undefined;
