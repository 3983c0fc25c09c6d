exports.other = 1;
